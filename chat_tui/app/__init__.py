"""The application: puts the screens together and carries out what the person enters."""

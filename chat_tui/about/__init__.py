"""All about one message: what the disk, the engine and the frames know of it, put into words."""

"""Details of one message: facts from the disk, the engine and the frames, in words."""

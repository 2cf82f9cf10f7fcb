"""Line mode: the chat without screens, for scripts, pipes and simple terminals."""

"""Relations of messages: the causal graph around one, and the replies to one."""

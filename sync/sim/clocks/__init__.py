"""Wall clocks of nodes, what their people answer about them, and how they are told over links."""

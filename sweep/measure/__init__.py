"""Records become a point. Pure."""

"""Foreign result files to curves and back, one module a format."""

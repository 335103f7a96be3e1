"""A history of nights as something seen: pictures, page, terminal."""

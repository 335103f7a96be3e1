"""How an API is spoken, one module each; found by scanning this package. Pure."""

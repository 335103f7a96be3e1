"""Points become a curve, and curves become files."""

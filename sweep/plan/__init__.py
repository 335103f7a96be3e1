"""What will be measured: profiles, SLOs, arrivals, grids. Pure."""

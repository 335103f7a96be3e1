"""The only room that touches the endpoint."""

"""Judgements in formats that other tools read, one module a format."""

"""Sizing: how many processes a system has, and how much memory it takes."""

"""Engines that speak."""

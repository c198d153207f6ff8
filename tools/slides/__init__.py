"""Slides, in one HTML file, from what the pages of docs/ are made of."""

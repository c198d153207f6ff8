"""The sources' tables and plots, again: `./lab experiment`."""

"""Makes the generated parts of the documents: `./lab pages`."""

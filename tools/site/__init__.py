"""What is read in a browser: the site, and pages that stand alone. No page asks another machine for anything."""

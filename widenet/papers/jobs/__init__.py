"""What trials of the papers' figures do: settings in, a record out; a file for each kind of work."""

"""What every command shares: settings -> forecast -> run, with progress and a way to resume -> result."""

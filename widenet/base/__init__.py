"""What every room may use: errors, words for messages, memory, progress; no data, no torch."""

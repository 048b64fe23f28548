"""Files as people have them become tables: opened, decoded, bounded, their structure checked; no torch."""

"""The terminal: settings, the loop, logs, reports. Everything a library must not do happens here."""

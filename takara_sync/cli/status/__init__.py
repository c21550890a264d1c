"""`takara-sync status [NAME]`: all in one look. It only reads, with the rights of the caller."""

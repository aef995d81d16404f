"""What a crowd of anonymous workers is worth: qualities from controls, cheats, regions, dictionaries, consensus."""

"""Sources: where files of models are downloaded from."""

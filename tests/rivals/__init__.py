"""Others who write the same objects at the same time: copies of ourselves, controllers, tools, people."""

"""llama.cpp: one small model for pictures and posts, in a process of its own."""

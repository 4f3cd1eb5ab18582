"""MCP: the service as tools of an assistant, over HTTP at /mcp and over standard input (docs/mcp.md)."""

"""What readers of XML share."""

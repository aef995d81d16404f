"""What to have people check next, given what their time costs and how sure the model is."""

"""What people read, as blocks: headings, texts, tables; shown as HTML or Markdown."""

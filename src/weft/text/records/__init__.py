"""Documents as JSON objects that are easy to use: what `--to records`, `Doc.to_dict` and the service give."""

from weft.text.records.of_doc import record_of
from weft.text.records.schema import record_schema
from weft.text.records.to_doc import doc_of_record, is_record

__all__ = ["doc_of_record", "is_record", "record_of", "record_schema"]

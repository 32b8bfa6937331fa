/** Of what parts of prompts and responses have beside the fields that all language models share. */
export const metadataName = "gateway"

/** `owned_by` in the model list of the scripted model: by this it is known at whatever address, and its numbers are labelled. */
export const SCRIPTED_OWNER = 'qualityflow-scripted';

/** Both sides of the wire must be of one build: this changes with every change of what crosses it. */
export const PROTOCOL = 5

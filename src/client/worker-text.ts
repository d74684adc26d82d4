declare const MAYFLY_WORKER_TEXT: string

/** The worker's script as text: the build puts it here. */
export const text: string = MAYFLY_WORKER_TEXT

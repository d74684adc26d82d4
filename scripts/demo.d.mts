import type { PreviewOptions, PreviewServer } from 'vite'

export function serveDemo(options?: PreviewOptions): Promise<PreviewServer>

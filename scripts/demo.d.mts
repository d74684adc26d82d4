import type { PreviewOptions, PreviewServer } from 'vite'

export function buildDemo(): Promise<void>
export function serveDemo(options?: PreviewOptions): Promise<PreviewServer>

export function findBrowser(): string | undefined
export function launchArguments(): string[]
export function ensureBrowser(): Promise<void>

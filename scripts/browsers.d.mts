export type BrowserName = 'chromium' | 'chromium-sqlite' | 'firefox' | 'webkitgtk'
export type Preferences = Record<string, string | number | boolean>
export const BROWSERS: Record<BrowserName, { title: string }>
export function missingFor(name: BrowserName): string[]
export function commandFor(
  name: BrowserName,
  profile: string,
  url: string,
  preferences?: Preferences,
): { program: string; args: string[]; env: NodeJS.ProcessEnv }
export function faultOf(name: BrowserName, profile: string): string | undefined

import { expect, test } from 'vitest'
import { digest } from '../../src/fetch/digest.js'

async function native(data: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', data))
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

test('the digest is SHA-256', async () => {
  expect(digest('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  for (let length = 0; length < 200; length++) {
    const data = crypto.getRandomValues(new Uint8Array(length))
    expect(digest(data)).toBe(await native(data))
  }
  expect(digest('naïve ☕')).toBe(await native(new TextEncoder().encode('naïve ☕')))
})

import { spawn } from 'node:child_process'
import { commandOptions } from './install.mjs'

/** What steps print that run side by side: in blocks, one after another; what a later one prints waits for its turn. */
export class Output {
  #blocks = []

  /** The block after those that were asked for before. */
  block() {
    const block = { held: [], isOver: false }
    this.#blocks.push(block)
    return {
      write: (data) => {
        block.held.push(data)
        this.#print()
      },
      end: () => {
        block.isOver = true
        this.#print()
      },
    }
  }

  #print() {
    for (const block of this.#blocks) {
      for (const data of block.held.splice(0)) process.stdout.write(data)
      if (!block.isOver) return
    }
  }
}

/** Runs a command as `run` does, and writes what it prints to a block; true when it succeeds. */
export function runStep(command, args, { write }) {
  const { env, ...options } = commandOptions()
  // It does not see that there is a terminal behind the block.
  const colors = process.stdout.isTTY && env.NO_COLOR === undefined ? { FORCE_COLOR: '1' } : {}
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'], env: { ...colors, ...env } })
  child.stdout.on('data', write)
  child.stderr.on('data', write)
  return new Promise((resolve) => {
    child.once('error', ({ message }) => {
      write(`${command} could not be started: ${message}\n`)
      resolve(false)
    })
    child.once('close', (status) => resolve(status === 0))
  })
}

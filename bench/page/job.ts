import type { Contender } from './contender.js'

/** What the page is asked to do. */
export interface Job {
  contender: string
  task: string
  database: string
  /** Chooses the documents that are asked for. */
  seed: number
  /** How many documents the task is about. */
  size: number
  /** How many live documents are in the database before it. */
  stored: number
  /** How often what is short is repeated at least. */
  times: number
  /** For how many milliseconds questions are asked while nothing else happens, so that there is something to compare. */
  quiet?: number
}

/** What was measured, in milliseconds. */
export type Values = Record<string, number>

export type Task = (load: () => Promise<Contender>, job: Job) => Promise<Values>

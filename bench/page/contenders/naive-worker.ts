import { expose } from 'comlink'
import { contender } from './idb.js'

export type NaiveEngine = typeof contender

expose(contender)

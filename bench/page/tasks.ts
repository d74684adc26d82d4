import { deletion } from './tasks/deletion.js'
import { growth } from './tasks/growth.js'
import { opening } from './tasks/opening.js'
import { reading } from './tasks/reading.js'
import { writing } from './tasks/writing.js'
import type { Task } from './job.js'

export const tasks: Record<string, Task> = { ...opening, ...writing, ...reading, ...deletion, ...growth }

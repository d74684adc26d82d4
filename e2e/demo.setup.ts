import { test } from '@playwright/test'
import { buildDemo } from '../scripts/demo.mjs'

test('the demo can be built', () => buildDemo())

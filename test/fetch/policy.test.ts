import { describe, expect, test } from 'vitest'
import { ageOf, directivesOf, spanOfResponse } from '../../src/fetch/policy.js'
import type { Lifetimes } from '../../src/fetch/lifetimes.js'
import { START } from '../support/clock.js'
import { httpDate } from '../support/network.js'

const etag = { etag: '"1"' }
const options = { ttl: 60, staleWhileRevalidate: 600, staleIfError: 6000 }

/** fresh, stale, fallback, kept: seconds since it was made; null: not kept. */
type Ends = [number, number, number, number] | null

describe('for how long a response is good', () => {
  test.each<[string, Record<string, string>, Lifetimes, Lifetimes, Ends]>([
    ['the server is silent: the options', {}, options, {}, [60, 660, 6060, 6060]],
    ['nobody says anything', {}, {}, {}, null],
    ['max-age wins over the options', { 'cache-control': 'max-age=10' }, options, {}, [10, 610, 6010, 6010]],
    [
      'max-age wins over Expires',
      { 'cache-control': 'max-age=10', expires: httpDate(START + 99_000) },
      {},
      {},
      [10, 10, 10, 10],
    ],
    ['s-maxage is ignored', { 'cache-control': 's-maxage=10' }, options, {}, [60, 660, 6060, 6060]],
    ['private is fine', { 'cache-control': 'private, max-age=10' }, {}, {}, [10, 10, 10, 10]],
    ['public and immutable say nothing', { 'cache-control': 'public, immutable' }, { ttl: 5 }, {}, [5, 5, 5, 5]],
    ['no-store', { 'cache-control': 'no-store', ...etag }, options, {}, null],
    ['no-store among others', { 'cache-control': 'max-age=60, NO-STORE' }, options, {}, null],
    ['no-cache: kept to ask with', { 'cache-control': 'no-cache', ...etag }, options, {}, [0, 0, 0, 6060]],
    ['no-cache with nothing to ask with', { 'cache-control': 'no-cache' }, options, {}, null],
    [
      'no-cache for named fields counts as no-cache',
      { 'cache-control': 'no-cache="set-cookie, x"', ...etag },
      { ttl: 5 },
      {},
      [0, 0, 0, 5],
    ],
    ['no-cache with stale-if-error', { 'cache-control': 'no-cache, stale-if-error=7' }, options, {}, [0, 0, 7, 7]],
    [
      'must-revalidate forbids what is stale',
      { 'cache-control': 'max-age=10, must-revalidate', ...etag },
      options,
      {},
      [10, 10, 10, 6010],
    ],
    [
      'must-revalidate forbids it whatever else is said',
      { 'cache-control': 'max-age=10, must-revalidate, stale-if-error=9' },
      {},
      {},
      [10, 10, 10, 10],
    ],
    [
      'max-age=0, must-revalidate is no-cache',
      { 'cache-control': 'max-age=0, must-revalidate', ...etag },
      { ttl: 60 },
      {},
      [0, 0, 0, 60],
    ],
    [
      'stale-while-revalidate and stale-if-error',
      { 'cache-control': 'max-age=1, stale-while-revalidate=2, stale-if-error=3' },
      options,
      {},
      [1, 3, 4, 4],
    ],
    [
      'quoted, spaced and in capitals',
      { 'cache-control': ' Max-Age="10" ,  STALE-IF-ERROR = 5' },
      {},
      {},
      [10, 10, 15, 15],
    ],
    ['of two the first counts', { 'cache-control': 'max-age=10, max-age=20' }, {}, {}, [10, 10, 10, 10]],
    ['a max-age that is no number is over', { 'cache-control': 'max-age=soon' }, { ttl: 60 }, {}, null],
    ['a negative max-age is over', { 'cache-control': 'max-age=-1' }, { ttl: 60 }, {}, null],
    ['a value that ends in max-age is none', { 'cache-control': 'x-max-age=10' }, { ttl: 60 }, {}, [60, 60, 60, 60]],
    [
      'Expires, counted from Date',
      { expires: httpDate(START + 90_000), date: httpDate(START + 30_000) },
      options,
      {},
      [60, 660, 6060, 6060],
    ],
    ['Expires without a Date', { expires: httpDate(START + 90_000) }, {}, {}, [90, 90, 90, 90]],
    ['Expires: 0', { expires: '0' }, { ttl: 60 }, {}, null],
    ['Expires: -1', { expires: '-1' }, { ttl: 60, staleIfError: 9 }, {}, [0, 0, 9, 9]],
    ['Expires in the past', { expires: httpDate(START - 1000) }, { ttl: 60 }, {}, null],
    ['an override wins over max-age', { 'cache-control': 'max-age=10' }, {}, { ttl: 30 }, [30, 30, 30, 30]],
    ['an override wins over no-store', { 'cache-control': 'no-store' }, options, { ttl: 30 }, [30, 30, 30, 30]],
    [
      'an override of one lifetime leaves the others',
      { 'cache-control': 'no-store' },
      options,
      { staleIfError: 9 },
      [0, 0, 9, 9],
    ],
    ['an override wins over no-cache', { 'cache-control': 'no-cache' }, {}, { ttl: 30 }, [30, 30, 30, 30]],
    [
      'an override wins over must-revalidate',
      { 'cache-control': 'max-age=1, must-revalidate' },
      {},
      { staleIfError: 5 },
      [1, 1, 6, 6],
    ],
    ['an override of 0', { 'cache-control': 'max-age=60' }, {}, { ttl: 0 }, null],
    ['for ever', {}, { ttl: Infinity }, {}, [Infinity, Infinity, Infinity, Infinity]],
  ])('%s', (_, headers, defaults, override, ends) => {
    const span = spanOfResponse(new Headers(headers), START, defaults, override)
    expect(span ? [span.fresh, span.stale, span.fallback, span.kept] : null).toEqual(ends)
  })
})

describe('how old a response is when it comes', () => {
  test.each<[string, Record<string, string>, number, number]>([
    ['nothing is known', {}, 0, 0],
    ['Age', { age: '30' }, 0, 30],
    ['Age, and the time it took', { age: '30' }, 5000, 35],
    ['the time it took', {}, 5000, 5],
    ['Date', { date: httpDate(START - 20_000) }, 0, 20],
    ['the larger of the two', { date: httpDate(START - 20_000), age: '30' }, 0, 30],
    ['a Date in the future', { date: httpDate(START + 20_000) }, 0, 0],
    ['an Age that is no number', { age: 'old' }, 0, 0],
    ['a Date that is none', { date: 'yesterday' }, 0, 0],
  ])('%s', (_, headers, took, age) => {
    const all = new Headers({ 'cache-control': 'max-age=60', ...headers })
    expect(ageOf(all, START - took, START)).toBe(age)
  })

  test('a lifetime that is not the server’s begins when it comes', () => {
    const late = { date: httpDate(START - 20_000) }
    expect(ageOf(new Headers(late), START - 5000, START)).toBe(0)
    expect(ageOf(new Headers({ ...late, age: '30' }), START - 5000, START)).toBe(30)
    const headers = new Headers({ ...late, 'cache-control': 'max-age=60' })
    expect(ageOf(headers, START - 5000, START, { ttl: 5 })).toBe(0)
    expect(ageOf(headers, START - 5000, START, { staleIfError: 5 })).toBe(20)
  })
})

test('directives are read whatever stands between them', () => {
  expect([...directivesOf('a, b=1,,c="x, y=2" ;d')]).toEqual([
    ['a', ''],
    ['b', '1'],
    ['c', 'x, y=2'],
    ['d', ''],
  ])
  expect(directivesOf(null).size).toBe(0)
})

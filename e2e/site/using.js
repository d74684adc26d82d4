/** Code as an app ships it: Playwright would rewrite `await using` on its way to the page. */
export async function useAndAsk({ openStore, collection }) {
  let items
  {
    await using store = openStore('used', { items: collection() })
    await store.items.upsert({ id: 'a' })
    items = store.items
  }
  return items.get('a').catch((error) => error.code)
}

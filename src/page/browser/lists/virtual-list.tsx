import type { ComponentChild } from 'preact'
import type { VirtualListProps } from './list-window.ts'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ListWindow } from './list-window.ts'

/**
 * A list that draws only the visible rows and a few around them. The focused row and its neighbours stay drawn wherever the list is
 * scrolled, so that focus is never lost, and each row tells a screen reader its place in the whole list.
 */
export function VirtualList(props: VirtualListProps) {
  const { label, count, keyAt, children, as = 'list', scrolls = 'page', control, onSight } = props
  const [, setDrawn] = useState(0)
  const outer = useRef<HTMLDivElement>(null)
  const kept = useRef<ListWindow | undefined>(undefined)
  const list = (kept.current ??= new ListWindow(scrolls, () => setDrawn((times) => times + 1)))
  list.hold(props)
  if (control) control.current = list

  useEffect(() => {
    list.attach(outer.current!)
    return () => list.detach()
  }, [])
  useLayoutEffect(() => list.settle())
  const [first, last] = [list.first(), list.last()]
  useEffect(() => onSight?.(first, last), [first, last, count])

  const rows = list.drawn().map((row) => (
    <Row key={keyAt(row)} list={list} row={row} count={count} as={as} class={props.rowClass}>
      {children(row)}
    </Row>
  ))
  const names = { 'aria-label': label, style: { height: `${list.height}px` } }
  return (
    // A region that scrolls must be reachable by the keyboard.
    <div
      ref={outer}
      class={`virtual ${scrolls === 'itself' ? 'scrolls' : ''} ${props.class ?? ''}`}
      tabIndex={scrolls === 'itself' ? 0 : undefined}
      role={scrolls === 'itself' ? 'region' : undefined}
      aria-label={scrolls === 'itself' ? label : undefined}
    >
      {as === 'table' ? (
        <div class="virtual-rows" role="table" aria-rowcount={count} {...names}>
          {rows}
        </div>
      ) : (
        <ul class="virtual-rows" role="list" {...names}>
          {rows}
        </ul>
      )}
    </div>
  )
}

type RowProps = {
  list: ListWindow
  row: number
  count: number
  as: 'list' | 'table'
  class?: string | undefined
  children: ComponentChild
}

function Row({ list, row, count, as, class: named, children }: RowProps) {
  const element = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    const drawn = element.current!
    list.watch(drawn)
    return () => list.unwatch(drawn)
  }, [])
  const common = {
    class: named,
    'data-row': row,
    style: { transform: `translateY(${list.top(row)}px)` },
  }
  return as === 'table' ? (
    <div ref={element as { current: HTMLDivElement | null }} role="row" aria-rowindex={row + 1} {...common}>
      {children}
    </div>
  ) : (
    <li ref={element as { current: HTMLLIElement | null }} aria-setsize={count} aria-posinset={row + 1} {...common}>
      {children}
    </li>
  )
}

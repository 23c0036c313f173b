// useViewport.ts - looking at a sheet that is larger than its window: drag to move it, zoom where the pointer is.
//
// The window scrolls as any other, so keys, wheels and touch do what they do everywhere; zooming keeps the point under
// the pointer, or between two fingers, where it is.
import { type PointerEvent, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';

const LEAST = 0.2;
const MOST = 2;
const DRAG_FROM_PX = 4;
const clamp = (zoom: number) => Math.max(LEAST, Math.min(MOST, zoom));

export interface Viewport {
    zoom: number; /** Zoom by a factor, at a point of the screen or at the middle. */ by: (factor: number, at?: { x: number; y: number }) => void; /** All of a sheet of this size is in sight. */ fit: (w: number, h: number) => void; to: (zoom: number) => void;
    /** The zoom at which a sheet of this size would be all in sight. */ zoomFor: (w: number, h: number) => number;
    drag: { onPointerDown: (event: PointerEvent) => void; onPointerMove: (event: PointerEvent) => void; onPointerUp: (event: PointerEvent) => void };
    /** Whether the press that has just ended has moved the sheet: then it was no click. */ wasDragged: () => boolean;
}

export function useViewport(box: RefObject<HTMLElement | null>, sheet: RefObject<HTMLElement | null>, size: { w: number; h: number; margin: number }): Viewport {
    const [zoom, scale] = useState(1);
    const now = useRef(zoom);
    now.current = zoom;
    const isOwn = useRef(false); // somebody has chosen a zoom: it stays
    const kept = useRef<{ x: number; y: number; sx: number; sy: number } | null>(null);
    const by = (factor: number, at?: { x: number; y: number }) => {
        const window = box.current?.getBoundingClientRect();
        const paper = sheet.current?.getBoundingClientRect();
        if (!window || !paper) return;
        const point = at ?? { x: window.left + window.width / 2, y: window.top + window.height / 2 };
        kept.current = { ...point, sx: (point.x - paper.left) / now.current, sy: (point.y - paper.top) / now.current };
        isOwn.current = true;
        now.current = clamp(now.current * factor);
        scale(now.current);
    };
    // What was under the pointer is there again, as far as the sheet can be moved.
    useLayoutEffect(() => {
        const paper = sheet.current?.getBoundingClientRect();
        if (!kept.current || !paper || !box.current) return;
        box.current.scrollLeft += paper.left + kept.current.sx * zoom - kept.current.x;
        box.current.scrollTop += paper.top + kept.current.sy * zoom - kept.current.y;
        kept.current = null;
    }, [zoom]);
    const roomIn = (el: HTMLElement) => ({ w: el.clientWidth - size.margin - 32, h: el.clientHeight - 48 });
    useEffect(() => {
        const el = box.current;
        if (el && size.w > 0 && !isOwn.current) scale(Math.max(0.7, Math.min(1, roomIn(el).w / size.w)));
    }, [size.w]);
    const zoomFor = (w: number, h: number) => (box.current && w > 0 ? clamp(Math.min(1, roomIn(box.current).w / w, roomIn(box.current).h / h)) : 1);
    const to = (zoomTo: number) => {
        isOwn.current = true;
        scale(zoomTo);
    };
    const fit = (w: number, h: number) => to(zoomFor(w, h));
    usePinch(box, by);
    const held = useRef<{ x: number; y: number; left: number; top: number; moved: boolean } | null>(null);
    const dragged = useRef(false);
    const drag = {
        onPointerDown: (event: PointerEvent) => {
            dragged.current = false;
            const isFree = !(event.target as HTMLElement).closest('button, a, input');
            if (event.pointerType === 'touch' || !box.current || !(event.button === 1 || (event.button === 0 && isFree))) return;
            held.current = { x: event.clientX, y: event.clientY, left: box.current.scrollLeft, top: box.current.scrollTop, moved: false };
        },
        onPointerMove: (event: PointerEvent) => {
            const from = held.current;
            if (!from || !box.current) return;
            if (!from.moved && Math.hypot(event.clientX - from.x, event.clientY - from.y) < DRAG_FROM_PX) return;
            if (!from.moved) box.current.setPointerCapture(event.pointerId);
            from.moved = true;
            box.current.scrollLeft = from.left - (event.clientX - from.x);
            box.current.scrollTop = from.top - (event.clientY - from.y);
        },
        onPointerUp: () => {
            dragged.current = held.current?.moved ?? false;
            held.current = null;
        },
    };
    return { zoom, by, fit, to, zoomFor, drag, wasDragged: () => dragged.current };
}

/** The wheel with Ctrl, which is what pinching on a touchpad sends, and two fingers on a screen. */
function usePinch(box: RefObject<HTMLElement | null>, by: Viewport['by']) {
    const act = useRef(by);
    act.current = by;
    useEffect(() => {
        const el = box.current;
        if (!el) return;
        const wheel = (event: WheelEvent) => {
            if (!event.ctrlKey && !event.metaKey) return;
            event.preventDefault();
            act.current(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.004)), { x: event.clientX, y: event.clientY });
        };
        let apart = 0;
        const touch = (event: TouchEvent) => {
            const [a, b] = [event.touches[0], event.touches[1]];
            if (!a || !b) return void (apart = 0);
            event.preventDefault();
            const distance = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
            if (apart > 0) act.current(distance / apart, { x: (a.clientX + b.clientX) / 2, y: (a.clientY + b.clientY) / 2 });
            apart = distance;
        };
        el.addEventListener('wheel', wheel, { passive: false });
        el.addEventListener('touchstart', touch, { passive: false });
        el.addEventListener('touchmove', touch, { passive: false });
        el.addEventListener('touchend', touch);
        return () => {
            el.removeEventListener('wheel', wheel);
            el.removeEventListener('touchstart', touch);
            el.removeEventListener('touchmove', touch);
            el.removeEventListener('touchend', touch);
        };
    }, []);
}

// theme.ts - what Mantine's components take by default; colours and sizes are in mantine.css.
import { createTheme, Modal, Popover } from '@mantine/core';

export const theme = createTheme({
    fontFamily: 'var(--font)',
    fontFamilyMonospace: 'var(--mono)',
    defaultRadius: 'sm',
    focusRing: 'auto',
    cursorType: 'pointer',
    respectReducedMotion: true,
    components: {
        Modal: Modal.extend({ defaultProps: { shadow: 'lg' } }),
        Popover: Popover.extend({ defaultProps: { shadow: 'lg', radius: 'md', transitionProps: { duration: 0 } } }),
    },
});

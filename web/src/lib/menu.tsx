// menu.tsx - a list of things to do behind a button: arrows go through it, Esc closes it, and so does choosing one.
import { Menu as MantineMenu } from '@mantine/core';
import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactElement, ReactNode } from 'react';
import { Icon } from './icons';

/** `target` is the button; without one the menu belongs to what `opened` says. */
export function Menu({ target, children, position = 'bottom-end', width, opened, onChange }:
    { target: ReactElement; children: ReactNode; position?: 'bottom-end' | 'bottom-start' | 'top-start'; width?: number; opened?: boolean; onChange?: (to: boolean) => void }) {
    return (
        <MantineMenu unstyled position={position} width={width} opened={opened} onChange={onChange} returnFocus trapFocus loop transitionProps={{ duration: 0 }}
            classNames={{ dropdown: 'menu mantine-Popover-dropdown', item: 'mi', itemLabel: 'milabel' }}>
            <MantineMenu.Target>{target}</MantineMenu.Target>
            <MantineMenu.Dropdown>{children}</MantineMenu.Dropdown>
        </MantineMenu>
    );
}

interface ItemProps { icon?: string; onClick?: () => void; className?: string; isBad?: boolean; isOn?: boolean; kbd?: string; children: ReactNode }

const inside = ({ icon, kbd, children }: ItemProps) => <>{icon && <Icon name={icon} />}{children}{kbd && <kbd className="end">{kbd}</kbd>}</>;
const classOf = ({ className = '', isBad, isOn }: ItemProps) => `${className} ${isBad ? 'bad' : ''} ${isOn ? 'on' : ''}`;

export const MenuItem = (props: ItemProps) => <MantineMenu.Item className={classOf(props)} onClick={props.onClick}>{inside(props)}</MantineMenu.Item>;

/** One that leads to a page. */
export const MenuLink = ({ link, ...props }: ItemProps & { link: LinkProps }) => (
    <MantineMenu.Item className={classOf(props)} renderRoot={(root) => <Link {...(root as object)} {...link} />}>{inside(props)}</MantineMenu.Item>
);

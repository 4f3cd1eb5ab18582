<?php
// Install WordPress into its SQLite file, and print an application password of each of two users, as JSON.
define('WP_INSTALLING', true);
$_SERVER['HTTP_HOST'] = '127.0.0.1';
$_SERVER['REQUEST_METHOD'] = 'GET';
require $argv[1] . '/wp-load.php';
require ABSPATH . 'wp-admin/includes/upgrade.php';
add_filter('pre_wp_mail', '__return_true');
wp_install('Harbour News', 'admin', 'admin@example.org', true, '', 'admin-password');
update_option('permalink_structure', '/%postname%/');
wp_insert_user(['user_login' => 'reader', 'user_pass' => 'reader-password', 'role' => 'subscriber']);
foreach (get_posts(['post_type' => ['post', 'page'], 'post_status' => 'any', 'numberposts' => -1]) as $post) {
    wp_delete_post($post->ID, true);
}
$passwords = [];
foreach (['admin', 'reader'] as $login) {
    $user = get_user_by('login', $login);
    [$passwords[$login]] = WP_Application_Passwords::create_new_application_password($user->ID, ['name' => 'pressroom']);
}
echo "\n", json_encode($passwords), "\n";

el capitán pequeño compra el puerto .
el capitán blanco vende el puente blanco .
hay una isla roja aquí .
ella ve el puente .
la isla está enfrente de la red roja .
la lámpara es vieja .
el capitán rojo ve la red pequeña .
un puente viejo está detrás de la casa blanca .
la puerta es vieja .
el capitán nuevo ve el barco viejo .
una lámpara pequeña está detrás de la puerta pequeña .
ella compra la puerta roja .
el capitán pequeño repara la lámpara .
el barco pequeño está enfrente del puente rojo .
hay un puente aquí .
el capitán viejo está detrás del barco .
él vende la isla roja .
la casa nueva está cerca de la red pequeña .
un puente viejo está detrás del capitán .
la red es vieja .
un barco rojo está cerca del barco viejo .
el capitán blanco está cerca del transbordador viejo .
el puente es rojo .
el capitán pequeño pinta un puerto blanco .
él vende el transbordador nuevo .
hay un capitán nuevo aquí .
el puente es pequeño .
el capitán viejo compra el puente viejo .
el capitán ve un puente nuevo .
el capitán rojo pinta el barco rojo .
hay un transbordador blanco aquí .
el barco es pequeño .
el transbordador es pequeño .
él pinta la isla nueva .
la casa vieja está detrás del transbordador nuevo .
el capitán blanco pinta el barco nuevo .
ella compra una casa vieja .
ella pinta la red roja .
el capitán nuevo compra la lámpara .
el capitán blanco vende una puerta blanca .
el barco es rojo .
ella repara la red nueva .
el capitán repara el transbordador .
hay una puerta vieja aquí .
ella pinta la casa .
el capitán blanco vende una casa vieja .
el transbordador es viejo .
la casa está detrás de la lámpara .
el capitán vende la isla roja .
hay un barco pequeño aquí .
el capitán rojo ve un transbordador viejo .
hay una puerta blanca aquí .
ella vende el puente nuevo .
él ve una isla blanca .
la red es blanca .
el capitán blanco vende una isla .
el transbordador es nuevo .
él vende el puente blanco .
una red está enfrente del transbordador viejo .
el capitán rojo vende un barco blanco .
él ve el puerto blanco .
la red es roja .
el capitán viejo pinta una casa blanca .
él vende el puente pequeño .
una lámpara vieja está detrás de la casa blanca .
la puerta vieja está detrás de la red .
ella repara una isla vieja .
ella vende la puerta .
ella pinta el puerto viejo .
hay una red blanca aquí .
hay un capitán aquí .
el capitán rojo ve un puerto pequeño .
él ve una isla pequeña .
él repara el puerto .
la lámpara está cerca de la casa .
una casa blanca está detrás del capitán nuevo .
la casa está detrás de la casa .
el capitán nuevo pinta el puerto .
hay un barco aquí .
ella repara la puerta pequeña .
la isla es vieja .
hay una red aquí .
el capitán rojo vende una casa blanca .
ella repara una red roja .
la isla es roja .
ella repara un puente .
ella repara una lámpara nueva .
el capitán repara la red .
el capitán pequeño pinta la isla .
la casa pequeña está cerca de la red vieja .
el capitán repara la casa roja .
el capitán viejo compra la isla nueva .
la casa es blanca .
hay un puente rojo aquí .
un transbordador está enfrente de la casa roja .
un puerto blanco está cerca de la isla .
hay un transbordador pequeño aquí .
ella pinta una puerta nueva .
ella repara el puerto .
ella vende la red blanca .
